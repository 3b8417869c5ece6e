import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** A component whose code is fetched when it is first shown. @param load such as `() => import('./x.tsx').then(m => m.X)` */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazily(props: Props) {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(loaded ? 'loaded' : 'loading')
    useEffect(() => {
      // Even where it is loaded: that may have come between what this rendered and here.
      load().then(
        component => {
          loaded = component
          setState('loaded')
        },
        () => setState('failed'),
      )
    }, [])
    if (state === 'failed') {
      // A newer version of the page may have taken the place of the files that this one asks for.
      return <p class="notice">This part of the page could not be loaded. Reload the page.</p>
    }
    const Component = loaded
    return Component ? <Component {...props} /> : <p class="muted loading">Loading…</p>
  }
}
