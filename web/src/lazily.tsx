import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

interface Lazy {
  /** Fetches the code before the component is shown. */
  preload(): void
}

/** A component whose code is fetched when it is first shown. @param load such as `() => import('./x.tsx').then(m => m.X)` */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> & Lazy {
  let loaded: ComponentType<Props> | undefined
  async function loadOnce(): Promise<void> {
    loaded = await load()
  }
  function Lazily(props: Props) {
    const [state, setState] = useState<'loading' | 'loaded' | 'failed'>(loaded ? 'loaded' : 'loading')
    useEffect(() => {
      // Called even if `loaded` was set: the code may have been loaded after this was rendered.
      loadOnce().then(
        () => setState('loaded'),
        () => setState('failed'),
      )
    }, [])
    if (state === 'failed') {
      // A newer version of the page may have replaced the files that this version needs.
      return <p class="notice">This part of the page could not be loaded. Reload the page.</p>
    }
    const Component = loaded
    return Component ? <Component {...props} /> : <p class="muted loading opening">Loading…</p>
  }
  return Object.assign(Lazily, {
    preload() {
      // The component shows the failure when it is displayed.
      loadOnce().catch(() => {})
    },
  })
}
