import { lazily } from './lazily.tsx'
import { LiveBar } from './live/bar.tsx'
import { NoPage } from './no-page.tsx'
import { route } from './route.ts'
import { LinkOffer } from './session/link-offer.tsx'
import { session } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import type { SignedIn } from './session/signed-in.ts'
import { ThingPage } from './thing/page.tsx'
import { ThingsPage } from './things/page.tsx'
import { TopBar } from './top-bar.tsx'

const Connect = lazily(() => import('./thing/connect/connect.tsx').then(({ Connect }) => Connect))
const Operator = lazily(() => import('./operator/page.tsx').then(({ Operator }) => Operator))

/** The dashboard: signs in, then shows the page that the hash names. */
export function App() {
  const now = session.value
  if (now.kind !== 'signed in') return <SignIn session={now} />
  return (
    <>
      <TopBar principal={now.signedIn.principal} />
      <LiveBar state={now.signedIn.live.state} />
      <LinkOffer />
      {/* The key makes a new page for each credential, so that no state of the previous user is kept. */}
      <main key={now.signedIn.credential}>
        <PageOf signedIn={now.signedIn} />
      </main>
    </>
  )
}

function PageOf({ signedIn }: { readonly signedIn: SignedIn }) {
  const { principal } = signedIn
  const to = route.value
  if (to.page === 'operator' && principal.kind === 'admin') return <Operator signedIn={signedIn} />
  if (to.page === 'operator') return <NoPage hash="#/operator" />
  if (to.page === 'none') return <NoPage hash={to.hash} />
  if (to.page === 'connect') return <Connect key={to.thingId} signedIn={signedIn} thingId={to.thingId} />
  if (to.page === 'thing') return <ThingPage key={to.thingId} signedIn={signedIn} thingId={to.thingId} />
  // A thing may only see itself.
  if (principal.kind === 'thing') return <ThingPage signedIn={signedIn} thingId={principal.thingId} />
  return <ThingsPage signedIn={signedIn} />
}
