// notion-helper writes a deep page in as many requests as it needs. Run: node foreign_helper.mjs MODULES ADDRESS TOKEN PAGE
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"

const [modules, baseUrl, auth, page_id] = process.argv.slice(2)
const require = createRequire(join(modules, "x.js"))
const { Client, collectPaginatedAPI } = require("@notionhq/client")
const { paragraph, request } = await import(pathToFileURL(require.resolve("notion-helper")))
const notion = new Client({ auth, baseUrl, notionVersion: "2026-03-11" })

const chain = (depth) => paragraph({ rich_text: `depth ${depth}`, children: depth > 1 ? [chain(depth - 1)] : [] })
const children = [chain(6), ...Array.from({ length: 240 }, (_, n) => paragraph(`p${n}`))]
const data = { parent: { page_id }, properties: { title: { title: [{ text: { content: "Deep" } }] } }, children }
const { apiResponse } = await request.pages.create({ data, client: notion })

const read = async (block_id) => {
  const blocks = await collectPaginatedAPI(notion.blocks.children.list, { block_id })
  const below = await Promise.all(blocks.map((block) => (block.has_children ? read(block.id) : [])))
  return blocks.flatMap((block, n) => [block.paragraph.rich_text[0].plain_text, ...below[n]])
}
const texts = await read(apiResponse.id)
console.log(`${texts.length} blocks, from ${texts[0]} to ${texts.at(-1)}`)
