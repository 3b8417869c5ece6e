import type { Snippet } from '../snippet.ts'

export const arduino: Snippet = {
  name: 'Arduino',
  needs:
    'The ESP32 core has all of it. On ESP8266 include ESP8266WiFi.h and ESP8266HTTPClient.h. For an https address use WiFiClientSecure with setCACert() in place of WiFiClient.',
  delivery:
    'Over HTTP the server answers each write: 201 means that it is stored. The sketch keeps a reading until then, tries again with longer and longer waits of up to 5 minutes, and takes no new reading meanwhile. Between two tries the loop runs on. Each write has its own id: if it is sent twice, the server stores it once. PubSubClient, the usual library for MQTT, publishes at QoS 0 only: no answer says that a reading is stored. The tests of Thingwire cannot run this sketch.',
  text: ({ httpUrl, token }) => `#include <WiFi.h>
#include <HTTPClient.h>

const char *url = "${httpUrl}/v2/things/${token}";

char body[160];
bool waiting = false;
unsigned long start, count = 0, last = 0, tried = 0, retryAfter = 0;

void setup() {
  Serial.begin(115200);
  WiFi.begin("YOUR_WIFI", "YOUR_WIFI_PASSWORD");
  while (WiFi.status() != WL_CONNECTED) delay(200);
  // With a number from the start of the board, ids never come again after a restart.
  start = random(0x7fffffff);
}

int post() {
  WiFiClient network;
  HTTPClient http;
  http.setTimeout(15000);
  if (!http.begin(network, url)) return 0;
  int status = http.POST(String(body));
  http.end();
  return status;
}

void loop() {
  if (!waiting && (count == 0 || millis() - last >= 10000)) {
    last = millis();
    count++;
    float temperature = 21.5;  // your sensor
    // A sensor that fails reads NaN, which is no JSON: the server would refuse it.
    if (isnan(temperature)) return;
    snprintf(body, sizeof body, "{\\"id\\":\\"%08lx-%lu\\",\\"values\\":[{\\"key\\":\\"temperature\\",\\"value\\":%.2f}]}",
             start, count, temperature);
    waiting = true;
    retryAfter = 0;
  }
  if (!waiting || millis() - tried < retryAfter) return;
  int status = post();
  tried = millis();
  // 400: refused for good, the thing's page says why.
  if (status == 201 || status == 400) waiting = false;
  if (status == 201) return;
  Serial.printf("not stored: %d (401, 404: wrong token; below 0: no answer)\\n", status);
  retryAfter = retryAfter == 0 ? 1000 : min(2 * retryAfter, 300000UL);
}
`,
}
