// The official client, driven through what the exporter uses. Run: node foreign.mjs MODULES ADDRESS TOKEN PAGE
import { createRequire } from "node:module"
import { join } from "node:path"

const [modules, baseUrl, auth, parent] = process.argv.slice(2)
const { Client, collectPaginatedAPI } = createRequire(join(modules, "x.js"))("@notionhq/client")
const notion = new Client({ auth, baseUrl, notionVersion: "2026-03-11" })
const text = (content) => [{ type: "text", text: { content } }]
const said = []

const database = await notion.databases.create({
  parent: { type: "page_id", page_id: parent },
  title: text("Foreign"),
  initial_data_source: { properties: { Name: { type: "title", title: {} }, Key: { type: "rich_text", rich_text: {} } } },
})
const data_source_id = database.data_sources[0].id
const page = await notion.pages.create({
  parent: { type: "data_source_id", data_source_id },
  properties: { Name: { title: text("Row") }, Key: { rich_text: text("k") } },
})
said.push("created")
for (const count of [100, 50]) {
  const children = Array.from({ length: count }, (_, n) => ({ type: "paragraph", paragraph: { rich_text: text(`p${n}`) } }))
  await notion.blocks.children.append({ block_id: page.id, children })
}
said.push("appended 150")
said.push(`read ${(await collectPaginatedAPI(notion.blocks.children.list, { block_id: page.id })).length}`)
const filter = { property: "Key", rich_text: { equals: "k" } }
said.push(`found ${(await notion.dataSources.query({ data_source_id, filter })).results.length}`)
await notion.pages.update({ page_id: page.id, properties: { Name: { title: text("Row 2") } } })
said.push("updated")
await notion.pages.update({ page_id: page.id, in_trash: true })
said.push("trashed")
await notion.pages.retrieve({ page_id: "0".repeat(32) }).catch((error) => said.push(String(error.status)))
console.log(said.join(", "))
