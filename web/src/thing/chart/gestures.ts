/** What a user can do with a chart. Positions are shares of the width: 0 is left, 1 is right. */
export interface ChartGestures {
  zoom(factor: number, centre: number): void
  /** @param share share of the width; negative moves towards the past */
  pan(share: number): void
  toNow(): void
}

const step = 0.25
const factor = 2

/** Handles a key on a focused chart. @returns whether the key has an action */
export function handleKey(key: string, { zoom, pan, toNow }: ChartGestures): boolean {
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => pan(-step),
    ArrowRight: () => pan(step),
    '+': () => zoom(1 / factor, 0.5),
    '=': () => zoom(1 / factor, 0.5),
    '-': () => zoom(factor, 0.5),
    '0': toNow,
    End: toNow,
  }
  const action = actions[key]
  action?.()
  return action !== undefined
}

/** Height of a line in CSS pixels, for wheel events that are measured in lines. */
const lineHeight = 16
/** CSS pixels of a wheel movement that zoom by a factor of two. */
const pixelsOfFactor = 100

/**
 * Listens to gestures. One finger moves the chart, and two fingers zoom. On a trackpad, two fingers move the chart sideways or
 * zoom: browsers report a pinch as a wheel event with Ctrl. Any other wheel event scrolls the page. Dragging with a mouse selects
 * a range to zoom to, which the plot handles itself. A double click returns to now.
 *
 * @param shareAt returns the position of a pointer as a share of the width
 * @returns a function that stops listening
 */
export function listenToPointers(
  element: HTMLElement,
  shareAt: (clientX: number) => number,
  { zoom, pan, toNow }: ChartGestures,
): () => void {
  const fingers = new Map<number, number>()

  function down(event: PointerEvent): void {
    if (event.pointerType !== 'mouse') fingers.set(event.pointerId, shareAt(event.clientX))
  }

  function move({ pointerId, clientX }: PointerEvent): void {
    const before = fingers.get(pointerId)
    if (before === undefined) return
    const after = shareAt(clientX)
    const [other] = [...fingers].filter(([id]) => id !== pointerId).map(([, share]) => share)
    fingers.set(pointerId, after)
    if (other === undefined) {
      pan(before - after)
      return
    }
    const distance = Math.abs(after - other)
    // If the fingers touch, the factor would be arbitrarily large.
    if (distance > 0.02) zoom(Math.abs(before - other) / distance, (after + other) / 2)
  }

  function up({ pointerId }: PointerEvent): void {
    fingers.delete(pointerId)
  }

  function wheel(event: WheelEvent): void {
    const { deltaX, deltaY, deltaMode, ctrlKey, clientX } = event
    const unit = deltaMode === WheelEvent.DOM_DELTA_LINE ? lineHeight : 1
    if (ctrlKey) zoom(factor ** ((deltaY * unit) / pixelsOfFactor), shareAt(clientX))
    else if (Math.abs(deltaX) > Math.abs(deltaY)) pan((deltaX * unit) / element.clientWidth)
    else return
    event.preventDefault()
  }

  const abort = new AbortController()
  const { signal } = abort
  element.addEventListener('pointerdown', down, { signal })
  element.addEventListener('pointermove', move, { signal })
  element.addEventListener('pointerup', up, { signal })
  element.addEventListener('pointercancel', up, { signal })
  element.addEventListener('wheel', wheel, { signal, passive: false })
  element.addEventListener('dblclick', toNow, { signal })
  return () => abort.abort()
}
