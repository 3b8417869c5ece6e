import 'uplot/dist/uPlot.min.css'
import uPlot from 'uplot'
import { dotsOf, lineOf } from './line.ts'
import type { Series } from './series.ts'
import { axisLabel, exponentOf } from './value-axis.ts'

/** CSS pixels. */
const plotHeight = 260
/** Half the width of the longest time label, CSS pixels. Without a value axis, the label needs this space next to the plot. */
const halfOfTime = 32
/** Maximum distance between pointer and point at which the point is selected, CSS pixels. */
const reach = 24
/** Distance of two points from which on each has a dot, CSS pixels. */
const apart = 8

/** Indexes in the data of the plot. Index 0 is the times. */
const highest = 1
const lowest = 2
const average = 3

interface PlotEvents {
  /** Called when a range was selected with a mouse. Milliseconds since the epoch. */
  readonly onZoom: (from: number, to: number) => void
  /** Called when the pointer is at a point of the series; undefined when it is no longer at a point. */
  readonly onPoint: (index: number | undefined) => void
  /** Called with the width of the element in CSS pixels, at the beginning and after each change. */
  readonly onWidth: (width: number) => void
}

export interface Plot {
  draw(series: Series, from: number, to: number): void
  /** Shows another range of the drawn data. Milliseconds since the epoch. */
  show(from: number, to: number): void
  /** The position of a pointer as a share of the width, 0 to 1. */
  shareAt(clientX: number): number
  close(): void
}

/**
 * Draws a series into an element. The plot is always as wide as the element.
 *
 * @param isBars draws a bar for each point instead of a line through them
 */
export function createPlot(
  element: HTMLElement,
  { onZoom, onPoint, onWidth }: PlotEvents,
  isBars: boolean,
): Plot {
  /** Index in the series for each drawn point; undefined for a gap, which is drawn as a point without a value. */
  let indexes: readonly (number | undefined)[] = []
  let edges = { min: 0, max: 1 }
  /** Exponent of the power of ten that is the unit of the drawn values. */
  let exponent = 0
  const options = optionsFor(element, isBars, {
    range: () => [edges.min, edges.max],
    label: split => axisLabel(split, exponent),
    onSelect(plot) {
      const { left, width } = plot.select
      if (width === 0) return
      onZoom(plot.posToVal(left, 'x') * 1000, plot.posToVal(left + width, 'x') * 1000)
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
    },
    onCursor(plot) {
      const { idx, left = 0 } = plot.cursor
      const time = idx === null || idx === undefined ? undefined : plot.data[0][idx]
      const isNear = time !== undefined && Math.abs(plot.valToPos(time, 'x') - left) <= reach
      onPoint(isNear && typeof idx === 'number' ? indexes[idx] : undefined)
    },
  })
  const plot = new uPlot(options, [[], [], [], []], element)
  const resize = new ResizeObserver(() => {
    if (element.clientWidth === 0) return
    plot.setSize({ width: element.clientWidth, height: plotHeight })
    onWidth(element.clientWidth)
  })
  resize.observe(element)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => plot.redraw()
  scheme.addEventListener('change', redraw)

  function show(from: number, to: number): void {
    edges = { min: from / 1000, max: to / 1000 }
    plot.setScale('x', edges)
  }

  return {
    draw(series, from, to) {
      exponent = exponentOf(series.points)
      const line = lineOf(series, 10 ** exponent)
      indexes = line.indexes
      edges = { min: from / 1000, max: to / 1000 }
      const { times, highests, lowests, averages } = line
      plot.setData([[...times], [...highests], [...lowests], [...averages]], true)
    },
    show,
    shareAt(clientX) {
      const { left, width } = plot.over.getBoundingClientRect()
      return Math.min(1, Math.max(0, (clientX - left) / width))
    },
    close() {
      resize.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    },
  }
}

interface PlotHandlers {
  readonly range: () => [number, number]
  readonly label: (split: number) => string
  readonly onSelect: (plot: uPlot) => void
  readonly onCursor: (plot: uPlot) => void
}

function optionsFor(
  element: HTMLElement,
  isBars: boolean,
  { range, label, onSelect, onCursor }: PlotHandlers,
): uPlot.Options {
  const color = (name: string) => () => getComputedStyle(element).getPropertyValue(name)
  const font = `11px ${getComputedStyle(element).fontFamily}`
  const axis: uPlot.Axis = {
    stroke: color('--text-muted'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1, size: 4 },
    font,
  }
  const edge: uPlot.Series = {
    show: !isBars,
    stroke: color('--chart-edge'),
    width: 1,
    points: { show: false, filter: [] },
  }
  return {
    width: Math.max(element.clientWidth, 1),
    height: plotHeight,
    padding: [8, 20, 0, (_plot, _side, [, , , hasValueAxis]) => (hasValueAxis ? 0 : halfOfTime)],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      points: { size: (_plot, drawn) => (drawn === average ? 8 : 0) },
    },
    scales: { x: { time: true, range }, ...(isBars && { y: { range: fromZero } }) },
    axes: [
      { ...axis, values: timeAxisValues },
      { ...axis, size: widthIn(font), gap: 4, values: (_plot, splits) => splits.map(label) },
    ],
    series: [
      {},
      edge,
      edge,
      isBars
        ? {
            stroke: color('--chart-line'),
            fill: color('--chart-band'),
            width: 1,
            points: { show: false },
            ...(bars && { paths: bars }),
          }
        : {
            stroke: color('--chart-line'),
            width: 1.5,
            points: { show: false, filter: placesOfDots, size: 5, fill: color('--chart-line') },
          },
    ],
    bands: isBars ? [] : [{ series: [highest, lowest], fill: color('--chart-range') }],
    hooks: {
      setSelect: [onSelect],
      setCursor: [onCursor],
      drawSeries: isBars ? [] : [drawWhiskers(color('--chart-edge'))],
    },
  }
}

/** A bar begins with its interval. */
const bars = uPlot.paths.bars?.({ size: [0.8, 64], align: 1 })

function fromZero(_plot: uPlot, lowest: number | null, highest: number | null): [number, number] {
  const [from, to] = [Math.min(0, lowest ?? 0), Math.max(0, highest ?? 0)]
  return [from, to === from ? from + 1 : to + 0.05 * (to - from)]
}

/** Computes the width of an axis from its widest label, CSS pixels. @param font with a size in CSS pixels */
function widthIn(font: string): (plot: uPlot, labels: string[] | null) => number {
  // A separate canvas: on the canvas of the plot, uPlot would not notice that the font was changed.
  const ruler = document.createElement('canvas').getContext('2d')
  if (ruler) ruler.font = font
  return (_plot, labels) => {
    const widths = (labels ?? []).map(label => ruler?.measureText(label).width ?? 0)
    return Math.ceil(Math.max(0, ...widths)) + 16
  }
}

/** 24-hour times and dates that are the same in every locale. In uPlot's format: step in seconds, text, text at a new day. */
const timeAxisValues: uPlot.Axis.Values = [
  [365 * 86_400, '{YYYY}', null, null, null, null, null, null, 1],
  [28 * 86_400, '{MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [86_400, '{D} {MMM}', '\n{YYYY}', null, null, null, null, null, 1],
  [3_600, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [60, '{HH}:{mm}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [1, '{HH}:{mm}:{ss}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
  [0.001, '{HH}:{mm}:{ss}.{fff}', '\n{D} {MMM}', null, '\n{D} {MMM}', null, null, null, 1],
]

function placesOfDots(plot: uPlot): number[] {
  const places = [...plot.data[0]].map(time => plot.valToPos(time, 'x'))
  return dotsOf(places, [...(plot.data[average] ?? [])], plot.over.clientWidth, apart)
}

/** Draws a line from the lowest to the highest value at each dot. The band between two dots is no measurement. */
function drawWhiskers(color: () => string): (plot: uPlot, drawn: number) => void {
  return (plot, drawn) => {
    if (drawn !== lowest) return
    const { ctx, data } = plot
    const { left, top, width, height } = plot.bbox
    ctx.save()
    ctx.beginPath()
    ctx.rect(left, top, width, height)
    ctx.clip()
    ctx.strokeStyle = color()
    ctx.lineWidth = devicePixelRatio
    ctx.beginPath()
    for (const at of placesOfDots(plot)) {
      const x = Math.round(plot.valToPos(data[0][at] ?? 0, 'x', true))
      for (const [place, method] of [
        [lowest, 'moveTo'],
        [highest, 'lineTo'],
      ] as const) {
        ctx[method](x, plot.valToPos(data[place]?.[at] ?? 0, 'y', true))
      }
    }
    ctx.stroke()
    ctx.restore()
  }
}
