/** Where this machine has a browser; undefined where it has none. */
import { existsSync } from 'node:fs'

export const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
