import { activationStories } from './activation.ts'
import { httpStories as stepwiseStories } from './http.ts'
import { httpRaces, mqttRaces } from './races.ts'
import { revocationStories } from './revocation.ts'
import { sessionStories } from './sessions.ts'
import type { HttpStory, MqttStory } from './story.ts'
import { topicStories } from './topics.ts'
import { willStories } from './wills.ts'

export const httpStories: readonly HttpStory[] = [...stepwiseStories, ...httpRaces]

export const mqttStories: readonly MqttStory[] = [
  ...sessionStories,
  ...revocationStories,
  ...willStories,
  ...topicStories,
  ...activationStories,
  ...mqttRaces,
]
