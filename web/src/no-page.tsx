import { usePageTitle } from './page-title.ts'

/** Shown for an address without a page, or without a page for this principal. @param hash of the address */
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
