import type { Snippet } from '../snippet.ts'

export const curl: Snippet = {
  name: 'curl',
  needs: 'Any shell with curl 7.76 or newer. For HTTP-only devices: this is the whole request.',
  delivery:
    'HTTP 201 means stored; 401 and 404 mean that the token in the address is not right. The datetime makes a resend harmless: the same record is stored once, so --retry may send it again.',
  text: ({ httpUrl, token }) =>
    `curl -sS --fail-with-body --retry 5 --retry-connrefused '${httpUrl}/v2/things/${token}' \\
  -d '{"values":[{"key":"temperature","value":21.5,"datetime":"'$(date -u +%Y%m%d%H%M%S)'"}]}' \\
  -w ' HTTP %{http_code}\\n'
`,
}
