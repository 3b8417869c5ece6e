import { useEffect } from 'preact/hooks'

/** Sets the title of the page while the component is mounted. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Thingwire`
    return () => {
      document.title = 'Thingwire'
    }
  }, [title])
}
