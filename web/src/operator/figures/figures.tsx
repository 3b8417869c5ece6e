import type { ComponentChildren } from 'preact'
import { Problem } from '../../controls/problem.tsx'
import { Moment } from '../../time/moment.tsx'
import { type Figure, figures } from './catalogue.ts'
import { type Point, type Refusals, refusalsOf, rejectedConnectionsOf } from './history.ts'
import { Sparkline } from './sparkline.tsx'
import { useHistory } from './use-history.ts'

/** The state of the node: figures from its `/metrics`, now and over the last ten minutes. */
export function Figures({ credential }: { readonly credential: string }) {
  const { history, problem } = useHistory(credential)
  const { samples, points } = history
  const newest = samples.at(-1)
  const isShared = newest?.labelOf('thingwire_build_info', 'store') === 'redis'
  return (
    <section class="card" aria-labelledby="operator-figures">
      <div class="card-head">
        <h2 id="operator-figures">This node</h2>
        <span class="muted">Lines: up to 10 minutes since this page was opened.</span>
      </div>
      <Problem text={problem} />
      {problem !== undefined && newest && (
        <p class="muted">
          These figures are from <Moment milliseconds={newest.at} />.
        </p>
      )}
      {newest === undefined && problem === undefined && <p class="muted loading">Loading…</p>}
      {isShared && (
        <p class="muted">
          The figures are from the node that answers. Behind a load balancer another node may answer each
          time. Watch all nodes with Prometheus there.
        </p>
      )}
      {newest && (
        <div class="figures">
          {figures.map((figure, place) => (
            <FigureCard key={figure.title} figure={figure} place={place} points={points} />
          ))}
          <RefusalsCard
            title="Refused writes"
            refusals={refusalsOf(history)}
            since={samples[0]?.at ?? newest.at}
          />
          <RefusalsCard
            title="Clients turned away"
            refusals={rejectedConnectionsOf(history)}
            since={samples[0]?.at ?? newest.at}
          >
            <p class="muted">
              The usual cause is a wrong, replaced or missing token. Look for <code>turned away</code> in the
              log: it names the address.
            </p>
          </RefusalsCard>
        </div>
      )}
    </section>
  )
}

interface FigureCardProps {
  readonly figure: Figure
  /** Index of the figure in the catalogue. */
  readonly place: number
  readonly points: readonly Point[]
}

function FigureCard({ figure: { title, format, lines }, place, points }: FigureCardProps) {
  const measured = lines.map(({ label }, linePlace) => ({
    label,
    points: points.map(({ at, values }) => ({ at, value: values[place]?.[linePlace] })),
  }))
  return (
    <div class="figure">
      <h3>{title}</h3>
      <dl>
        {measured
          // Free disk space and limit are not known for every store.
          .filter(line => title !== 'Store' || line.points.some(({ value }) => value !== undefined))
          .map(line => (
            <div key={line.label}>
              <dt>{line.label}</dt>
              <dd>
                {valueText(line.points.at(-1)?.value, format)}
                <Sparkline points={line.points} />
              </dd>
            </div>
          ))}
      </dl>
    </div>
  )
}

function valueText(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? '–' : format(value)
}

interface RefusalsCardProps {
  readonly title: string
  readonly refusals: readonly Refusals[]
  /** Refusals from this moment on count as recent, milliseconds since the epoch. */
  readonly since: number
  /** Advice, shown if there are refusals. */
  readonly children?: ComponentChildren
}

function RefusalsCard({ title, refusals, since, children }: RefusalsCardProps) {
  return (
    <div class="figure">
      <h3>{title}</h3>
      {refusals.length === 0 ? (
        <p class="muted">None since the node started.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Reason</th>
              <th scope="col" class="numeric">
                Since <Moment milliseconds={since} />
              </th>
              <th scope="col" class="numeric">
                Since start
              </th>
            </tr>
          </thead>
          <tbody>
            {refusals.map(({ reason, recently, inAll }) => (
              <tr key={reason}>
                <td>
                  <code>{reason}</code>
                </td>
                <td class="numeric">{recently}</td>
                <td class="numeric">{inAll}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {refusals.length > 0 && children}
    </div>
  )
}
