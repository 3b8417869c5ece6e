import { type Path, valueAt } from './document.ts'
import type { Draft } from './draft.ts'

interface ContestedProps {
  readonly draft: Draft
  readonly onTakeStored: (path: Path) => void
}

/** Shows the members that both the user and someone else have changed. */
export function Contested({ draft: { contested, stored }, onTakeStored }: ContestedProps) {
  if (contested.length === 0) return null
  return (
    <div class="contested" role="alert">
      <p>
        Somebody else changed these settings while you edited them. If you save, your changes replace theirs.
      </p>
      <ul>
        {contested.map(path => {
          const name = path.join('.')
          const value = valueAt(stored, path)
          return (
            <li key={name}>
              <strong>{name}</strong>{' '}
              {value === undefined ? 'was removed' : `is now ${JSON.stringify(value)}`}{' '}
              <button
                type="button"
                aria-label={`Give up my change of ${name}`}
                onClick={() => onTakeStored(path)}
              >
                Give up my change
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
