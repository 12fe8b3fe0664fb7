/** Limits for a machine under load, not expectations: a test goes on as soon as its condition holds. */
export const patient = { timeout: 20_000, interval: 5 };
export const unhurried = { timeout: 60_000 };
