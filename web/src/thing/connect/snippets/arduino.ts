import type { Snippet } from '../snippet.ts'

export const arduino: Snippet = {
  name: 'Arduino',
  needs: 'Library Manager: PubSubClient. For ESP32; on ESP8266 include ESP8266WiFi.h.',
  delivery:
    'PubSubClient publishes at QoS 0 only: no answer says that a reading is stored. The sketch keeps a reading that it could not send, and sends it again. A reading that is lost on the way stays lost. Over HTTP the server answers each write: use HTTP if every reading counts.',
  tls: 'Use WiFiClientSecure with setCACert() in place of WiFiClient.',
  text: ({ host, mqttPort, token }) => `#include <WiFi.h>
#include <PubSubClient.h>

#define TOKEN "${token}"
const char *host = "${host}";
const uint16_t port = ${mqttPort};

WiFiClient network;
PubSubClient mqtt(network);
char body[200];
bool waiting = false;

void setup() {
  Serial.begin(115200);
  WiFi.begin("YOUR_WIFI", "YOUR_WIFI_PASSWORD");
  while (WiFi.status() != WL_CONNECTED) delay(200);
  mqtt.setServer(host, port);
  // Topic and body must fit: PubSubClient has 256 bytes unless told, and sends nothing that is longer.
  mqtt.setBufferSize(1024);
}

void loop() {
  static unsigned long last = 0;
  if (!mqtt.connected()) {
    String board = "board-" + WiFi.macAddress();
    if (!mqtt.connect(board.c_str(), TOKEN, "")) {
      Serial.printf("no connection, state %d (4: wrong token)\\n", mqtt.state());
      delay(5000);
      return;
    }
  }
  mqtt.loop();
  if (!waiting && millis() - last >= 10000) {
    last = millis();
    float temperature = 21.5;  // your sensor
    // A sensor that fails reads NaN, which is no JSON: the server would refuse it.
    if (!isnan(temperature)) {
      snprintf(body, sizeof body, "{\\"id\\":\\"%08lx\\",\\"values\\":[{\\"key\\":\\"temperature\\",\\"value\\":%.2f}]}",
               (unsigned long)random(0x7fffffff), temperature);
      waiting = true;
    }
  }
  if (waiting && mqtt.publish("things/" TOKEN "/write", body)) waiting = false;
}
`,
}
