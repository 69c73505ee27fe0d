// SPDX-License-Identifier: AGPL-3.0-only

// Package schemas carries Windtunnel's published JSON Schemas in the binary.
package schemas

import "embed"

// Files holds the *.schema.json files of this folder.
//
//go:embed *.schema.json
var Files embed.FS
