import './link-offer.css'
import { linkSession } from './link-session.ts'
import { linkProblem, turnDownLink, useLink } from './session.ts'

/** Asks a user who is already signed in whether to sign this tab in with the session of the opened link. */
export function LinkOffer() {
  const problem = linkProblem.value
  const isOffered = linkSession.value !== undefined
  if (!isOffered && problem === undefined) return null
  return (
    <div class="link-offer" role="alert">
      <p>
        {isOffered
          ? 'You opened a link that signs in with another session. You are still signed in as before.'
          : problem}
      </p>
      {isOffered && (
        <button type="button" onClick={() => void useLink()}>
          Use the link in this tab
        </button>
      )}
      <button type="button" onClick={turnDownLink}>
        {isOffered ? 'Stay signed in as before' : 'Close'}
      </button>
    </div>
  )
}
