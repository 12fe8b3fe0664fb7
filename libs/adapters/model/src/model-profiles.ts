import type { Effort, ModelProfile } from '@manyhands/ports';
import profiles from './profiles.json' with { type: 'json' };

/** What the Messages API adds to a profile. */
export interface MessagesProfile extends ModelProfile {
  /** The levels of effort that the model takes; none: the parameter is left out. */
  efforts: readonly Effort[];
  /** Whether the model refuses its own thoughts once the conversation before them was changed. */
  bindsThinking: boolean;
}

const table = profiles as readonly (MessagesProfile & { note?: string })[];

/** The profile of an exact id, else of the longest prefix; `*` alone, which fits every id, is the default. */
export function profileOf(modelId: string): MessagesProfile {
  let best: MessagesProfile | null = null;
  for (const profile of table) {
    if (profile.match === modelId) return profile;
    const isLonger = best === null || profile.match.length > best.match.length;
    if (isLonger && profile.match.endsWith('*') && modelId.startsWith(profile.match.slice(0, -1))) best = profile;
  }
  if (!best) throw new Error('profiles.json has no default profile (`*`)');
  return best;
}
