import { usePageTitle } from './page-title.ts'

/** For an address that names no page of whoever is signed in. @param hash of the address */
export function NoPage({ hash }: { readonly hash: string }) {
  usePageTitle('No such page')
  return (
    <div class="notice">
      <h1>No such page</h1>
      <p class="breakable">
        There is nothing at <code>{hash}</code>, or you may not see it. Check the address, or go to{' '}
        <a href="#/">the first page</a>.
      </p>
    </div>
  )
}
