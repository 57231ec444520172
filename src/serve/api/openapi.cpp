// The description of the API for programs and people. A test compares its paths with the routes.
#include "serve/api/api.h"
#include "serve/jobs/job_options.h"

namespace hum::serve {
namespace {

constexpr const char* kDocument = R"json({
"openapi": "3.1.0",
"info": {
  "title": "hum",
  "version": "1",
  "description": "Plays hummed melodies on instruments. A job goes from an upload to notes and sounds. Errors are application/problem+json and say what to do."
},
"servers": [{"url": "/"}],
"security": [{}, {"token": []}, {"session": [], "csrf": []}],
"paths": {
  "/v1/session": {
    "get": {
      "operationId": "whoAmI", "summary": "Whose cookie the request has, for the page", "security": [{}, {"session": []}],
      "responses": {"200": {"description": "`name` is null for who must log in first",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}}}
    },
    "post": {
      "operationId": "logIn", "summary": "Trade the token of a key for a cookie", "security": [{}],
      "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object",
        "required": ["token"], "properties": {"token": {"type": "string"}}}}}},
      "responses": {
        "200": {"description": "Logged in", "headers": {"Set-Cookie": {"schema": {"type": "string"}}},
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}},
        "default": {"$ref": "#/components/responses/Problem"}}
    },
    "delete": {
      "operationId": "logOut", "summary": "Forget the cookie", "security": [{}],
      "responses": {"204": {"description": "Forgotten"}}
    }
  },
  "/v1/uploads": {
    "post": {
      "operationId": "upload", "summary": "Send a recording ahead of jobs",
      "parameters": [{"$ref": "#/components/parameters/IdempotencyKey"}],
      "requestBody": {"required": true, "content": {"multipart/form-data": {
        "schema": {"type": "object", "additionalProperties": false, "minProperties": 1, "maxProperties": 1,
          "description": "One sound, by what it is for. A song, for the tasks separate and remix, and a backing stay in stereo; the others become mono",
          "properties": {"audio": {"$ref": "#/components/schemas/Sound"}, "timbre": {"$ref": "#/components/schemas/Sound"},
            "backing": {"$ref": "#/components/schemas/Sound"}, "song": {"$ref": "#/components/schemas/Sound"}}}}}},
      "responses": {
        "201": {"description": "Decoded and kept until it expires",
          "headers": {"Location": {"schema": {"type": "string"}}},
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Upload"}}}},
        "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/uploads/{id}": {
    "parameters": [{"$ref": "#/components/parameters/Id"}],
    "get": {
      "operationId": "getUpload", "summary": "Whether an upload is still there",
      "responses": {
        "200": {"description": "It is",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Upload"}}}},
        "default": {"$ref": "#/components/responses/Problem"}}
    },
    "delete": {
      "operationId": "removeUpload", "summary": "Remove an upload; jobs that still need it keep it",
      "responses": {"204": {"description": "Removed"}, "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/jobs": {
    "post": {
      "operationId": "start", "summary": "Start a job",
      "parameters": [{"$ref": "#/components/parameters/IdempotencyKey"}],
      "requestBody": {"required": true, "content": {
        "application/json": {"schema": {"$ref": "#/components/schemas/JobRequest"}},
        "multipart/form-data": {"schema": {"$ref": "#/components/schemas/JobForm"}}}},
      "responses": {
        "202": {"description": "Accepted: it will end exactly once",
          "headers": {"Location": {"schema": {"type": "string"}}},
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Accepted"}}}},
        "429": {"$ref": "#/components/responses/Problem"},
        "default": {"$ref": "#/components/responses/Problem"}}
    },
    "get": {
      "operationId": "listJobs", "summary": "Your jobs, the newest first",
      "parameters": [
        {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
        {"name": "cursor", "in": "query", "description": "`next` of the page before",
          "schema": {"type": "integer", "minimum": 1, "maximum": 9223372036854775807}}],
      "responses": {
        "200": {"description": "A page of jobs, without their notes and options",
          "content": {"application/json": {"schema": {"type": "object", "required": ["jobs", "next"], "properties": {
            "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}},
            "next": {"type": ["string", "null"]}}}}}},
        "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/jobs/{id}": {
    "parameters": [{"$ref": "#/components/parameters/Id"}],
    "get": {
      "operationId": "getJob", "summary": "How far a job is, its notes and results",
      "responses": {
        "200": {"description": "The job",
          "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Job"}}}},
        "default": {"$ref": "#/components/responses/Problem"}}
    },
    "delete": {
      "operationId": "removeJob", "summary": "Cancel a job and remove everything about it",
      "responses": {"204": {"description": "Removed"}, "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/jobs/{id}/events": {
    "parameters": [{"$ref": "#/components/parameters/Id"}],
    "get": {
      "operationId": "follow",
      "summary": "The states of a job as server-sent events; each `data` is a Job, the last one has ended",
      "parameters": [{"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}}],
      "responses": {
        "200": {"description": "Events of the type job", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        "204": {"description": "The job has ended, and Last-Event-ID is its last state"},
        "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/jobs/{id}/results/{name}": {
    "parameters": [{"$ref": "#/components/parameters/Id"},
      {"name": "name", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1},
        "description": "A name in `results`; `stream.wav`, which plays while it is made, at another level than the finished take, whose loudness is known only at its end; a listed sound with the extension wav, flac, ogg or mp3; `melody.csv`; or `all.zip`"}],
    "get": {
      "operationId": "getResult", "summary": "A result; Range and ETag work",
      "responses": {
        "200": {"description": "The file", "content": {"*/*": {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}}},
        "206": {"description": "The requested range"},
        "304": {"description": "As before"},
        "409": {"$ref": "#/components/responses/Problem"},
        "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/presets": {
    "get": {
      "operationId": "listPresets", "summary": "The instruments",
      "responses": {"200": {"description": "All, by General MIDI program", "content": {"application/json": {"schema": {
        "type": "object", "required": ["presets"], "properties": {"presets": {"type": "array", "items": {"type": "object",
          "required": ["name", "family", "program", "trained"],
          "properties": {"name": {"type": "string"}, "family": {"type": "string"}, "program": {"type": "integer"},
            "low": {"type": "integer"}, "high": {"type": "integer"}, "trained": {"type": "boolean"},
            "sound": {"type": ["string", "null"]}}}}}}}}}}
    }
  },
  "/v1/presets/{name}/sound.wav": {
    "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}}],
    "get": {
      "operationId": "getPresetSound", "summary": "How an instrument sounds",
      "responses": {
        "200": {"description": "A few notes", "content": {"audio/wav": {"schema": {"type": "string", "contentMediaType": "audio/wav"}}}},
        "202": {"description": "A worker plays it for the first time; ask again after Retry-After seconds"},
        "default": {"$ref": "#/components/responses/Problem"}}
    }
  },
  "/v1/stems": {
    "get": {
      "operationId": "listStems", "summary": "The stems that the task separate makes of a song",
      "responses": {"200": {"description": "Without the models there are none", "content": {"application/json": {"schema": {
        "type": "object", "required": ["stems"], "properties": {"stems": {"type": "array", "items": {"type": "string"}}}}}}}}
    }
  },
  "/health": {"get": {"operationId": "health", "summary": "Whether the server runs",
    "responses": {"200": {"description": "It does", "content": {"application/json": {"schema": {"type": "object"}}}}}}},
  "/ready": {"get": {"operationId": "ready", "summary": "Whether a worker has loaded its models",
    "responses": {"200": {"description": "One has", "content": {"application/json": {"schema": {"type": "object"}}}},
      "503": {"$ref": "#/components/responses/Problem"}}}},
  "/openapi.json": {"get": {"operationId": "describe", "summary": "This document",
    "responses": {"200": {"description": "It", "content": {"application/json": {"schema": {"type": "object"}}}}}}}
},
"components": {
  "securitySchemes": {
    "token": {"type": "http", "scheme": "bearer", "description": "Only where the service has keys"},
    "session": {"type": "apiKey", "in": "cookie", "name": "hum_session"},
    "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token",
      "description": "`csrf` of the session; for requests with its cookie that change something"}
  },
  "parameters": {
    "Id": {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}},
    "IdempotencyKey": {"name": "Idempotency-Key", "in": "header",
      "description": "A repeated request with the same key gets the first answer and starts nothing",
      "schema": {"type": "string", "minLength": 1, "maxLength": 255}}
  },
  "responses": {
    "Problem": {"description": "What is wrong and what to do",
      "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
  },
  "schemas": {
    "Sound": {"type": "string", "contentMediaType": "application/octet-stream",
      "description": "wav, flac, ogg, mp3; webm and m4a where ffmpeg is installed"},
    "Problem": {"type": "object", "required": ["title", "status"], "properties": {"type": {"type": "string"},
      "title": {"type": "string"}, "status": {"type": "integer"}, "detail": {"type": "string"}, "hint": {"type": "string"},
      "limit": {"type": "string", "description": "with 429: jobs, seconds_per_hour or bytes, the key's limit that is reached"}}},
    "Session": {"type": "object", "required": ["name", "csrf"], "properties": {
      "name": {"type": ["string", "null"]}, "csrf": {"type": ["string", "null"]}}},
    "Upload": {"type": "object", "required": ["id", "seconds", "expires"], "properties": {"id": {"type": "string"},
      "seconds": {"type": "number"}, "expires": {"type": "string", "format": "date-time"}}},
    "Note": {"type": "object", "additionalProperties": false, "required": ["start", "end", "pitch"], "properties": {
      "start": {"type": "number", "minimum": 0, "description": "seconds"}, "end": {"type": "number", "description": "seconds"},
      "pitch": {"type": "integer", "minimum": 0, "maximum": 127, "description": "MIDI number; 69 is 440 Hz"},
      "amplitude": {"type": "number", "minimum": 0, "maximum": 1},
      "bends": {"type": "array", "items": {"type": "integer", "minimum": -384, "maximum": 384}, "description": "thirds of a semitone, evenly over the note"},
      "name": {"type": "string", "description": "follows from the pitch"}, "cents": {"type": "number", "description": "follows from hz"},
      "hz": {"type": "number", "minimum": 0}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}}},
    "Notes": {"description": "A list of notes, or what a job says in `notes`", "oneOf": [
      {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Note"}},
      {"type": "object", "required": ["notes"], "properties": {"notes": {"type": "array", "minItems": 1,
        "items": {"$ref": "#/components/schemas/Note"}}}}]},
    "Task": {"type": "string", "enum": ["notes", "generate", "arrange", "separate", "remix"], "default": "generate",
      "description": "separate: a song becomes a sound for each stem. remix: one stem of a song is played on the instrument, in the song"},
    "JobRequest": {"type": "object", "additionalProperties": false, "properties": {
      "upload": {"type": ["string", "null"], "description": "id of the recording, or of the song"},
      "timbre": {"type": ["string", "null"], "description": "id of a recording of 1 to 5 s to imitate instead of a preset"},
      "backing": {"type": ["string", "null"], "description": "id of a song to mix the melody into"},
      "task": {"$ref": "#/components/schemas/Task"},
      "notes": {"$ref": "#/components/schemas/Notes"},
      "options": {"$ref": "#/components/schemas/JobOptions"}}},
    "JobForm": {"type": "object", "additionalProperties": false, "properties": {
      "audio": {"$ref": "#/components/schemas/Sound"}, "timbre": {"$ref": "#/components/schemas/Sound"},
      "backing": {"$ref": "#/components/schemas/Sound"}, "upload": {"type": "string"},
      "task": {"$ref": "#/components/schemas/Task"}, "notes": {"$ref": "#/components/schemas/Notes"},
      "options": {"$ref": "#/components/schemas/JobOptions"}}},
    "Links": {"type": "object", "properties": {"self": {"type": "string"}, "events": {"type": "string"}, "stream": {"type": "string"}}},
    "Status": {"type": "string", "enum": ["queued", "running", "done", "failed", "cancelled"]},
    "Accepted": {"type": "object", "required": ["id", "status", "position", "links"], "properties": {"id": {"type": "string"},
      "status": {"$ref": "#/components/schemas/Status"}, "position": {"type": "integer", "minimum": 0},
      "links": {"$ref": "#/components/schemas/Links"}}},
    "Job": {"type": "object", "required": ["id", "task", "status", "progress", "results", "links"], "properties": {
      "id": {"type": "string"}, "task": {"$ref": "#/components/schemas/Task"},
      "status": {"$ref": "#/components/schemas/Status"},
      "stage": {"type": "string", "description": "queued, separate, hear, play or write"},
      "progress": {"type": "number", "minimum": 0, "maximum": 1},
      "seconds_left": {"type": ["number", "null"]}, "position": {"type": "integer"},
      "notes": {"type": ["object", "null"], "description": "as `hum notes --json` prints them, as soon as they are heard"},
      "results": {"type": "array", "items": {"type": "object", "required": ["name", "type", "bytes", "url"], "properties": {
        "name": {"type": "string"}, "type": {"type": "string"}, "bytes": {"type": "integer"},
        "seconds": {"type": ["number", "null"]}, "url": {"type": "string"}}}},
      "error": {"type": ["object", "null"], "properties": {"title": {"type": "string"}, "detail": {"type": "string"}, "hint": {"type": "string"}}},
      "upload": {"type": ["string", "null"]}, "options": {"type": "object"},
      "created": {"type": "string", "format": "date-time"}, "ended": {"type": ["string", "null"]},
      "links": {"$ref": "#/components/schemas/Links"}}}
  }
}
})json";

}  // namespace

Json openapi_document() {
  Json document = parse_json(kDocument);
  document["components"]["schemas"]["JobOptions"] = job_options_schema();
  return document;
}

}  // namespace hum::serve
