/** What a person does to a chart; shares are of its width, 0 (left) to 1 (right). */
export interface ChartGestures {
  zoom(factor: number, centre: number): void
  /** @param share of the width; negative is towards the past */
  pan(share: number): void
  toNow(): void
}

const step = 0.25
const factor = 2

/** Keys of a chart that has the focus. @returns whether the key was one of them */
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

/** CSS pixels of a line that a wheel was turned by. */
const lineHeight = 16
/** CSS pixels of turning a wheel that show twice as much. */
const pixelsOfFactor = 100

/**
 * Fingers on a chart: one moves it, two pinch it. On a trackpad two move it sideways, and pinch it, which a browser tells as a wheel
 * with Ctrl; a wheel without scrolls the page. A mouse drags over what it zooms to, which the plot does by itself. A double click
 * returns to now.
 *
 * @param shareAt the share of the width at which a pointer is
 * @returns stops listening
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
    // Fingers that touch would zoom by any factor.
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
