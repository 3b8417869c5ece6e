import './style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { resume } from './session/session.ts'

const root = document.getElementById('app')
void resume()
if (root) render(<App />, root)
