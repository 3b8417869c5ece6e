import './operator.css'
import type { SignedIn } from '../session/signed-in.ts'
import { CodesSection } from './codes-section.tsx'
import { Figures } from './figures/figures.tsx'
import { ForwardingSection } from './forwarding-section.tsx'
import { SessionsSection } from './sessions-section.tsx'
import { SourcesSection } from './sources-section.tsx'
import { ThingsSection } from './things-section.tsx'

/** The operator's page, only for the admin key. */
export function Operator({ signedIn }: { readonly signedIn: SignedIn }) {
  const { api, credential, live } = signedIn
  return (
    <div class="operator-page">
      <h1>Operator</h1>
      <ThingsSection signedIn={signedIn} />
      <SourcesSection signedIn={signedIn} />
      <CodesSection api={api} live={live} />
      <SessionsSection api={api} live={live} />
      <ForwardingSection api={api} live={live} />
      <Figures credential={credential} />
    </div>
  )
}
