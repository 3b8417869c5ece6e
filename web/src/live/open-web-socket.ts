/** Sends nothing once it is closing: it would not arrive, and browsers report that as an error of the page. */
class OpenWebSocket extends WebSocket {
  override send(data: Parameters<WebSocket['send']>[0]): void {
    if (this.readyState === WebSocket.OPEN) super.send(data)
  }
}

/** For mqtt.js, which writes until it is notified of the end. */
export function openWebSocket(url: string, protocols: readonly string[]): WebSocket {
  return new OpenWebSocket(url, [...protocols])
}
