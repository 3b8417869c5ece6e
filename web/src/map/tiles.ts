import { signal } from '@preact/signals'

/** A server of raster tiles that a person chose for this browser; without one, the page asks nothing of other servers. */
export interface Tiles {
  /** An address with `{z}`, `{x}` and `{y}` (or `{-y}`), `https:` or on this server. */
  readonly url: string
  /** Whom the tiles' licence wants named. */
  readonly attribution: string
}

const storageKey = 'thingwire.tiles'

/** What every map shows under its track and places; undefined: the coastlines alone. */
export const tiles = signal<Tiles | undefined>(readTiles(localStorage.getItem(storageKey)))

/** @param chosen undefined for the coastlines alone */
export function chooseTiles(chosen: Tiles | undefined): void {
  if (chosen) localStorage.setItem(storageKey, JSON.stringify(chosen))
  else localStorage.removeItem(storageKey)
  tiles.value = chosen
}

/** Whether a text is the address of tiles that a browser can get from here. */
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
