// SPDX-License-Identifier: AGPL-3.0-only

package result

// Interop tells which programs understand each other, each as client and as server.
type Interop struct {
	Programs []InteropProgram `json:"programs"`
	Rows     []InteropRow     `json:"rows"`
}

// InteropProgram is one of them, by the name that the cells have.
type InteropProgram struct {
	Name string `json:"name"`
	Program
}

// InteropRow is one protocol. Encrypted: nobody in between may read what goes through its hop.
type InteropRow struct {
	Row       string        `json:"row"`
	Encrypted bool          `json:"encrypted"`
	UDP       bool          `json:"udp"`
	Cells     []InteropCell `json:"cells"`
}

// Interoperates is the outcome of two programs that understand each other.
const Interoperates = "interoperates"

// Impossible is the outcome of what a program has not, or this machine cannot do.
const Impossible = "impossible here"

// InteropCell is the client of one program with the server of another.
type InteropCell struct {
	Client  string  `json:"client"`
	Server  string  `json:"server"`
	Outcome string  `json:"outcome"`
	Detail  *string `json:"detail"`
}
