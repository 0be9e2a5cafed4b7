"""Files: made, sent as a form, and hung up in a block, as Notion does it."""

from __future__ import annotations

import hashlib
from email import message_from_bytes
from typing import Any

from tests.notion_server.store import BOT, Json, Refused, Store, Thing

TYPES = {"txt": "text/plain", "json": "application/json", "pdf": "application/pdf", "png": "image/png"}
MAX_FILE = 5 * 1024 * 1024  # of a free workspace
EXPIRES = "2999-01-01T00:00:00.000Z"


def form_in(content_type: str, data: bytes) -> Json:
    """The parts of a form: name, type and bytes of a file, and the text of anything else."""
    message = message_from_bytes(f"Content-Type: {content_type}\r\n\r\n".encode() + data)
    return {str(part.get_param("name", header="content-disposition")): content_of(part) for part in message.walk()}


def content_of(part: Any) -> Any:
    if part.is_multipart() or part.get_filename() is None:
        return part.get_payload()
    return {"name": part.get_filename(), "type": part.get_content_type(), "data": part.get_payload(decode=True)}


def create_upload(store: Store, body: Json) -> Thing:
    name = str(body.get("filename", ""))
    kind = TYPES.get(name.rpartition(".")[2])
    if kind is None or body.get("content_type", kind) != kind or body.get("mode", "single_part") != "single_part":
        raise Refused(400, "validation_error", f"{name!r} ({body.get('content_type')}) is not supported.")
    if len(name.encode()) > 900:
        raise Refused(400, "validation_error", "filename is too long.")
    return store.add("file_upload", {}, {"status": "pending", "filename": name, "content_type": kind})


def send_upload(upload: Thing, form: Json) -> None:
    file = form.get("file")
    if upload.fields["status"] != "pending" or not isinstance(file, dict):
        raise Refused(400, "validation_error", f"The file upload is {upload.fields['status']}, or there is no file.")
    if file["type"] != upload.fields["content_type"] or len(file["data"]) > MAX_FILE:
        raise Refused(400, "validation_error", f"{file['type']} of {len(file['data'])} bytes is not accepted.")
    upload.fields |= {"status": "uploaded", "data": file["data"]}


def attach(store: Store, content: Json) -> Json:
    """What a block keeps of an upload: what is in it, and what it is called."""
    upload = store.get(content["file_upload"]["id"], "file_upload")
    if upload.fields["status"] != "uploaded":
        raise Refused(400, "validation_error", f"The file upload is {upload.fields['status']}.")
    name = content.get("name", upload.fields["filename"])
    digest = hashlib.sha256(upload.fields["data"]).hexdigest()
    hosted = {"url": f"https://files.example/{digest}", "expiry_time": EXPIRES}
    return {"type": "file", "file": hosted, "name": name, "caption": content.get("caption", [])}


def attached(store: Store, value: Any) -> Any:
    """The blocks of a request, their uploads as files that Notion hosts."""
    match value:
        case {"file_upload": {"id": _}}:
            return attach(store, value)
        case dict():
            return {name: attached(store, part) for name, part in value.items()}
        case list():
            return [attached(store, part) for part in value]
    return value


def show_upload(upload: Thing) -> Json:
    status, data = upload.fields["status"], upload.fields.get("data")
    return {
        "object": "file_upload",
        "id": upload.id,
        "created_time": upload.time,
        "created_by": {"id": BOT, "type": "bot"},
        "last_edited_time": upload.time,
        "in_trash": False,
        "archived": False,
        "expiry_time": EXPIRES,
        "status": status,
        "filename": upload.fields["filename"],
        "content_type": upload.fields["content_type"],
        "content_length": None if data is None else len(data),
        "upload_url": f"https://api.notion.com/v1/file_uploads/{upload.id}/send",
    }
