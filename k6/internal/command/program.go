// SPDX-License-Identifier: AGPL-3.0-only

package command

// program is how our commands are called: as subcommands of k6, or by the name of their own front door.
var program = "k6 x"

// calledAs is the name of the front door.
const calledAs = "windtunnel"

// CalledByDoor makes messages call our commands by the front door's name; it is called before any of them is made.
func CalledByDoor() { program = calledAs }

// See says where the help of a command is.
func See(name string) string { return "see " + program + " " + name + " --help" }
