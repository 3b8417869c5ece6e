const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** An age as text, for example `12 s ago`, `3 min ago`, `2 h ago` or `5 d ago`. In the future, for example `in 2 h`. */
export function formatAge(milliseconds: number): string {
  const size = Math.abs(milliseconds)
  if (size < second) return 'now'
  const text = formatDuration(size)
  return milliseconds < 0 ? `in ${text}` : `${text} ago`
}

/** A duration in the largest unit that fits, rounded down. For example, 90,000 ms is `1 min`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < minute) return `${Math.floor(milliseconds / second)} s`
  if (milliseconds < hour) return `${Math.floor(milliseconds / minute)} min`
  if (milliseconds < day) return `${Math.floor(milliseconds / hour)} h`
  return `${Math.floor(milliseconds / day)} d`
}

/** Local date and time to the second, for example `2026-11-21 09:30:00`. The form is the same in every locale. */
export function formatMoment(milliseconds: number): string {
  const at = new Date(milliseconds)
  const date = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(padded).join('-')
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(padded).join(':')
  return `${date} ${time}`
}

/** Like `formatMoment`, but without the date if it is today. */
export function formatMomentNear(milliseconds: number, now: number): string {
  const text = formatMoment(milliseconds)
  const [today] = formatMoment(now).split(' ')
  const [date, time] = text.split(' ')
  return date === today && time !== undefined ? time : text
}

/** The zone of shown times, for example `UTC+01:00`. @param milliseconds since the epoch, because a zone may have summer time */
export function formatZone(milliseconds: number): string {
  const minutes = -new Date(milliseconds).getTimezoneOffset()
  if (minutes === 0) return 'UTC'
  const size = Math.abs(minutes)
  return `UTC${minutes < 0 ? '−' : '+'}${padded(Math.floor(size / 60))}:${padded(size % 60)}`
}

function padded(number: number): string {
  return String(number).padStart(2, '0')
}
