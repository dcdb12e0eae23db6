/*
 * Preloaded by a process whose clock is to be wrong: `CLOCK_AHEAD_MS` is by how much it is ahead, negative where it is behind.
 */
const aheadMs = Number(process.env.CLOCK_AHEAD_MS ?? 0);
const RightDate = globalThis.Date;

globalThis.Date = class extends RightDate {
  constructor(...parts) {
    if (parts.length === 0) super(RightDate.now() + aheadMs);
    else super(...parts);
  }

  static now() {
    return RightDate.now() + aheadMs;
  }
};
