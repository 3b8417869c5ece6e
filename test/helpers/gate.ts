/** A way to have calls wait until they are let through, and to know that one has come. */
export function createGate() {
  let open: () => void = () => {}
  let arrive: () => void = () => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  const reached = new Promise<void>(resolve => (arrive = resolve))
  const pass = async () => {
    arrive()
    await opened
  }
  return { pass, reached, open }
}
