import { signal } from '@preact/signals'

/** A server of raster tiles, chosen in this browser. Without tiles, the page sends no request to another server. */
export interface Tiles {
  /** Address with `{z}`, `{x}` and `{y}` (or `{-y}`): `https:`, or a path on this server. */
  readonly url: string
  /** The attribution that the licence of the tiles requires. */
  readonly attribution: string
}

const storageKey = 'thingwire.tiles'

/** The tiles that every map shows under tracks and places; undefined: only coastlines. */
export const tiles = signal<Tiles | undefined>(readTiles(localStorage.getItem(storageKey)))

/** @param chosen undefined for only coastlines */
export function chooseTiles(chosen: Tiles | undefined): void {
  if (chosen) localStorage.setItem(storageKey, JSON.stringify(chosen))
  else localStorage.removeItem(storageKey)
  tiles.value = chosen
}

/** Whether a text is an address from which this page can load tiles. */
export function isTileUrl(url: string): boolean {
  return (
    /^(https:\/\/|\/)/.test(url) && ['{z}', '{x}'].every(part => url.includes(part)) && /\{-?y\}/.test(url)
  )
}

function readTiles(text: string | null): Tiles | undefined {
  if (text === null) return undefined
  try {
    const { url, attribution } = JSON.parse(text) as Partial<Record<keyof Tiles, unknown>>
    return typeof url === 'string' && typeof attribution === 'string' && isTileUrl(url)
      ? { url, attribution }
      : undefined
  } catch {
    return undefined
  }
}
