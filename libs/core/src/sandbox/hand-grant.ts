/**
 * What a request to a hand's daemon is allowed by: a statement about one life of one hand, signed by the platform and
 * checked with a public key, so that the sandbox holds no secret (S1). Signing and base64 stand in the adapter.
 */

export interface HandGrant {
  session: string;
  hand: string;
  generation: number;
  /** Epoch of the lease the caller holds. */
  epoch: number;
  /** Milliseconds since 1970 UTC after which the grant is worth nothing. */
  exp: number;
}

/** How far the clocks of platform and sandbox may stand apart. */
export const grantClockSkewMs = 60_000;

/** The bytes that are signed. The order of the fields is part of the format. */
export function grantText(grant: HandGrant): string {
  const { session, hand, generation, epoch, exp } = grant;
  return JSON.stringify({ session, hand, generation, epoch, exp });
}

/** The grant a text states, or null when it is none. */
export function parseGrantText(text: string): HandGrant | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return isHandGrant(value) ? value : null;
}

/**
 * Why a well-signed grant admits nothing here; null when it admits. `other-life` is an answer like a fence: the caller
 * asks for a sandbox of another generation than this one.
 */
export function grantRefusal(
  grant: HandGrant,
  life: { session: string; hand: string; generation: number },
  now: number,
): 'expired' | 'other-hand' | 'other-life' | null {
  if (grant.exp + grantClockSkewMs < now) return 'expired';
  if (grant.session !== life.session || grant.hand !== life.hand) return 'other-hand';
  return grant.generation === life.generation ? null : 'other-life';
}

function isHandGrant(value: unknown): value is HandGrant {
  if (typeof value !== 'object' || value === null) return false;
  const { session, hand, generation, epoch, exp } = value as Record<string, unknown>;
  return (
    typeof session === 'string' &&
    typeof hand === 'string' &&
    isCount(generation) &&
    isCount(epoch) &&
    Number.isSafeInteger(exp)
  );
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
