/**
 * The environment of a process, and of those that it starts, with another wall clock. Its timers run as ever.
 *
 * @param offset such as `+10y`, `-2d`, `+3600` (seconds), of libfaketime
 */
export function otherClock(offset: string): NodeJS.ProcessEnv {
  return {
    // Without its command faketime, which leaves shared memory named by its process id: with many runs an id comes twice, and fails.
    LD_PRELOAD: '/usr/$LIB/faketime/libfaketimeMT.so.1',
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}
