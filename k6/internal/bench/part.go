// SPDX-License-Identifier: AGPL-3.0-only

package bench

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// partTimeout bounds the question what is being measured, which no run waits for longer.
const partTimeout = 200 * time.Millisecond

// part is what a probed scenario measures just now, such as "  (vless-tls, turn 3)"; "" where nobody can tell.
func (b *session) part(j job) string {
	if b.sidecar == nil || !j.needsSidecar() {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), partTimeout)
	defer cancel()
	var now struct {
		Parts []string `json:"parts"`
	}
	if b.sidecar.call(ctx, http.MethodGet, "/windows", nil, &now) != nil || len(now.Parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(now.Parts, "; ") + ")"
}
