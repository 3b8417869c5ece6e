import { useState } from 'preact/hooks'
import { addToken, listTokens, removeToken, type TokenSummary } from '../api/admin.ts'
import { Problem } from '../controls/problem.tsx'
import { useAction } from '../controls/use-action.ts'
import type { SignedIn } from '../session/signed-in.ts'
import { keepThingToken } from '../session/thing-tokens.ts'
import { Moment } from '../time/moment.tsx'
import { Confirm } from './confirm.tsx'
import { Secret } from './secret.tsx'
import { useList } from './use-list.ts'

interface TokensProps {
  readonly signedIn: Pick<SignedIn, 'api' | 'live'>
  readonly thingId: string
  /** The name under which the operator sees the thing. */
  readonly name: string
}

/** The tokens of a thing, up to ten, so that a device can get a new token before the old token is revoked. */
export function Tokens({ signedIn: { api, live }, thingId, name }: TokensProps) {
  const { items: tokens, problem, reload } = useList(live, () => listTokens(api, thingId))
  const adding = useAction()
  const [secret, setSecret] = useState<string>()
  const [revoked, setRevoked] = useState<TokenSummary>()

  return (
    <div class="operator-detail">
      <Problem text={problem ?? adding.problem} />
      {tokens?.length === 0 && <p class="muted">No token: the thing cannot write.</p>}
      <ul class="operator-list">
        {tokens?.map(token => (
          <li key={token.tokenId} class="operator-row">
            <span>
              <code>{token.tokenId}</code>{' '}
              <span class="muted">
                made <Moment milliseconds={Date.parse(token.createdAt)} />,{' '}
                {token.used ? 'in use' : 'never used'}
              </span>
            </span>
            <button
              type="button"
              class="danger"
              aria-label={`Revoke token ${token.tokenId} of ${name}`}
              onClick={() => setRevoked(token)}
            >
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {secret === undefined ? (
        <button
          type="button"
          disabled={adding.isBusy}
          onClick={() =>
            adding.run(async () => {
              const { thingToken } = await addToken(api, thingId)
              keepThingToken(thingId, thingToken)
              setSecret(thingToken)
              reload()
            })
          }
        >
          Add token
        </button>
      ) : (
        <Secret
          title={`New token of ${name}`}
          text={secret}
          thingId={thingId}
          onDone={() => setSecret(undefined)}
        />
      )}
      {revoked && (
        <Confirm
          title="Revoke this token?"
          verb="Revoke"
          onClose={() => setRevoked(undefined)}
          onConfirm={async () => {
            await removeToken(api, thingId, revoked.tokenId)
            // The kept token may be the revoked token: the page knows only token ids.
            keepThingToken(thingId, undefined)
            reload()
          }}
        >
          <p>
            A device that still uses token <code>{revoked.tokenId}</code> of {name} is disconnected at once.
            Sessions made with this token end too. This cannot be undone.
          </p>
        </Confirm>
      )}
    </div>
  )
}
