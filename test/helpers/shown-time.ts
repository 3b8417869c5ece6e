/** What `Date.now()` gives while `work` is under way, milliseconds: what `show` was told last, from `first` on. */
export async function withShownTime<T>(
  first: number,
  work: (show: (time: number) => void) => Promise<T>,
): Promise<T> {
  const { now } = Date
  let shown = first
  Date.now = () => shown
  try {
    return await work(time => {
      shown = time
    })
  } finally {
    Date.now = now
  }
}
