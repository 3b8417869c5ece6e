/** Sends no data while the connection is closing: the data would not arrive, and browsers would report an error. */
class OpenWebSocket extends WebSocket {
  override send(data: Parameters<WebSocket['send']>[0]): void {
    if (this.readyState === WebSocket.OPEN) super.send(data)
  }
}

/** Creates the WebSocket for mqtt.js, which writes until it is notified that the connection has closed. */
export function openWebSocket(url: string, protocols: readonly string[]): WebSocket {
  return new OpenWebSocket(url, [...protocols])
}
