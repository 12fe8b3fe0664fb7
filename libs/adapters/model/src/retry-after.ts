/** How long the provider asks to wait, in milliseconds, from `retry-after-ms` or `retry-after` (seconds or a date). */
export function retryAfterMs(headers: Headers | undefined): number | null {
  const exact = headers?.get('retry-after-ms');
  if (exact) {
    const ms = Number(exact);
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  const rough = headers?.get('retry-after');
  if (!rough) return null;
  const seconds = Number(rough);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(rough) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
