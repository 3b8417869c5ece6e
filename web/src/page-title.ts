import { useEffect } from 'preact/hooks'

/** What the browser calls the page, as long as the component is there. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Thingwire`
    return () => {
      document.title = 'Thingwire'
    }
  }, [title])
}
