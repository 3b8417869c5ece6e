import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { chooseTiles, isTileUrl, tiles } from './tiles.ts'

/** Chooses the server of the map tiles. The choice is stored in this browser. */
export function TileChoice() {
  const id = useId()
  const problem = useSignal('')

  function save(event: SubmitEvent): void {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const url = String(form.get('url')).trim()
    const attribution = String(form.get('attribution')).trim()
    const isRefused = url !== '' && !isTileUrl(url)
    problem.value = isRefused ? 'Enter an https address that contains {z}, {x} and {y}.' : ''
    if (!isRefused) chooseTiles(url === '' ? undefined : { url, attribution })
  }

  return (
    <details class="tile-choice">
      <summary>Background map</summary>
      <form onSubmit={save}>
        <p>
          The coastlines come from this server. They are for orientation only. For streets or sea charts,
          enter the address of a tile server. Your browser then fetches the map from there, and that server
          learns which places you look at.
        </p>
        <label for={`${id}-url`}>Tile address</label>
        <input
          id={`${id}-url`}
          name="url"
          value={tiles.value?.url ?? ''}
          placeholder="https://tiles.example.org/{z}/{x}/{y}.png"
          autocomplete="off"
          spellcheck={false}
          aria-describedby={`${id}-problem`}
        />
        <label for={`${id}-attribution`}>Attribution required by its licence</label>
        <input
          id={`${id}-attribution`}
          name="attribution"
          value={tiles.value?.attribution ?? ''}
          placeholder="© OpenStreetMap contributors"
          autocomplete="off"
        />
        <p id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </p>
        <button type="submit">Use</button>{' '}
        <button type="button" onClick={() => chooseTiles(undefined)}>
          Coastlines only
        </button>
      </form>
    </details>
  )
}
