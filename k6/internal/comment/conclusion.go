// SPDX-License-Identifier: AGPL-3.0-only

package comment

// The conclusions, in GitHub's words. A gate succeeds if the conclusion is success or neutral.
const (
	Success = "success"
	Neutral = "neutral"
	Failure = "failure"
)

// The verdicts that are not always a failure.
const (
	pass         = "pass"
	inconclusive = "inconclusive"
)

// Conclusion is GitHub's conclusion for the verdict. An inconclusive verdict is neutral, unless evidence is missing or
// the gate is strict.
func (c Comment) Conclusion() string {
	switch {
	case c.Verdict == pass:
		return Success
	case c.Verdict == inconclusive && !c.Missing && !c.Strict:
		return Neutral
	}
	return Failure
}

// heading is the verdict for the reader, with the kind of doubt.
func (c Comment) heading() string {
	switch {
	case c.Verdict == pass:
		return "✓ pass"
	case c.Verdict == "fail":
		return "✗ fail"
	case c.Verdict != inconclusive:
		return c.Verdict
	}
	text := "cannot tell"
	if c.Doubt != "" {
		text += ": " + c.Doubt
	}
	if c.Conclusion() == Failure {
		return "✗ " + text
	}
	return text
}
