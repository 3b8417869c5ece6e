import { useId, useState } from 'preact/hooks'
import type { Api } from '../../api/http.ts'
import { Problem } from '../../controls/problem.tsx'
import { useAction } from '../../controls/use-action.ts'
import type { Description } from '../description.ts'
import { kindsWithWords } from '../kinds.ts'

interface DescribeResourceProps {
  readonly api: Api
  readonly thingId: string
  readonly resourceKey: string
  readonly description: Description
  readonly onDone: () => void
}

const kindsOfNumbers = ['energy', 'humidity', 'power', 'pressure', 'temperature', 'voltage']

/** A form for what people see of a resource (contract §5.3). An empty field removes what is there. */
export function DescribeResource({ api, thingId, resourceKey, description, onDone }: DescribeResourceProps) {
  const id = useId()
  const [given, setGiven] = useState<Description>(description)
  const { isBusy, problem, run } = useAction()

  function change(name: keyof Description, value: string | number | boolean | undefined): void {
    const { [name]: _, ...others } = given
    setGiven(value === undefined ? others : { ...others, [name]: value })
  }

  function submit(event: Event): void {
    event.preventDefault()
    const patch = patchBetween(description, given)
    if (Object.keys(patch).length === 0) {
      onDone()
      return
    }
    void run(async () => {
      const values = [{ key: '$meta', value: { [resourceKey]: patch } }]
      await api.send('POST', `/v2/things/${thingId}`, { values })
      onDone()
    })
  }

  const field = (name: 'name' | 'unit' | 'kind', label: string, maxLength: number) => (
    <label>
      {label}
      <input
        value={given[name] ?? ''}
        maxLength={maxLength}
        list={name === 'kind' ? `${id}-kinds` : undefined}
        autocomplete="off"
        onInput={({ currentTarget: { value } }) => change(name, value === '' ? undefined : value)}
      />
    </label>
  )
  const check = (name: 'total' | 'hidden', label: string) => (
    <label class="check">
      <input
        type="checkbox"
        checked={given[name] ?? false}
        onChange={({ currentTarget: { checked } }) => change(name, checked || undefined)}
      />
      {label}
    </label>
  )
  return (
    <form class="describe-resource" aria-label={`Describe ${resourceKey}`} onSubmit={submit}>
      <div class="inline-form">
        {field('name', 'Name', 100)}
        {field('unit', 'Unit', 32)}
        {field('kind', 'Kind', 64)}
        <label>
          Decimals
          <input
            type="number"
            min="0"
            max="10"
            value={given.decimals ?? ''}
            onInput={({ currentTarget: { value } }) =>
              change('decimals', value === '' ? undefined : Number(value))
            }
          />
        </label>
      </div>
      <datalist id={`${id}-kinds`}>
        {[...kindsOfNumbers, ...kindsWithWords].map(kind => (
          <option key={kind} value={kind} />
        ))}
      </datalist>
      {check('total', 'A counter that only grows, such as energy')}
      {check('hidden', 'Shown only on request')}
      <Problem text={problem} />
      <p class="actions">
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>{' '}
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </p>
    </form>
  )
}

/** A merge patch (RFC 7396) with the members that differ. */
function patchBetween(before: Description, after: Description): Readonly<Record<string, unknown>> {
  const names = Object.keys({ ...before, ...after }) as (keyof Description)[]
  const changed = names.filter(name => before[name] !== after[name])
  return Object.fromEntries(changed.map(name => [name, after[name] ?? null]))
}
