// Martian turns Markdown into blocks. Run: node martian.mjs MODULES, with a JSON list of texts on standard input
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

const { markdownToBlocks } = createRequire(join(process.argv[2], "x.js"))("@tryfabric/martian")
const texts = JSON.parse(readFileSync(0, "utf-8"))
console.log(JSON.stringify(texts.map((text) => markdownToBlocks(text, { notionLimits: { truncate: false } }))))
