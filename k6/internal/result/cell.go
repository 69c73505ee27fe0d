// SPDX-License-Identifier: AGPL-3.0-only

package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// Cell is a text, a truth, a number with or without a range, or nothing: null.
type Cell struct {
	Text  *string
	OK    *bool
	Value *float64
	Range *Range
	// Of is a figure that the judge puts in its place.
	Of *Figure
}

// Range is around a number: the ends of what was measured, or of an interval. Significant: it is no chance that the number is
// not what it would be without a difference.
type Range struct {
	Low         *float64
	High        *float64
	Significant bool
}

// Figure is one of an operation, or how many times the same of another: what scripts cannot know before they are judged.
type Figure struct {
	Operation string `json:"operation"`
	Figure    string `json:"figure"`
	By        string `json:"by,omitempty"`
}

// ranged is a number with a range, as JSON has it.
type ranged struct {
	Value       *float64 `json:"value"`
	Low         *float64 `json:"low"`
	High        *float64 `json:"high"`
	Significant bool     `json:"significant,omitempty"`
}

// MarshalJSON writes the one that there is.
func (c Cell) MarshalJSON() ([]byte, error) {
	switch {
	case c.Text != nil:
		return json.Marshal(c.Text)
	case c.OK != nil:
		return json.Marshal(c.OK)
	case c.Of != nil:
		return json.Marshal(c.Of)
	case c.Range != nil:
		return json.Marshal(ranged{c.Value, c.Range.Low, c.Range.High, c.Range.Significant})
	}
	return json.Marshal(c.Value)
}

// UnmarshalJSON reads any of them. The error is of a value that is no cell.
func (c *Cell) UnmarshalJSON(data []byte) error {
	*c = Cell{}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		c.Text = &v
		return nil
	case bool:
		c.OK = &v
		return nil
	case float64:
		c.Value = &v
		return nil
	case []any:
		return errors.New("a list is no cell")
	}
	if _, is := value.(map[string]any)["figure"]; is {
		return strictly(data, &c.Of)
	}
	var r ranged
	err := strictly(data, &r)
	c.Value, c.Range = r.Value, &Range{r.Low, r.High, r.Significant}
	return err
}

func strictly(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

// String is the cell without its unit; "" where there is nothing.
func (c Cell) String() string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.OK != nil:
		return strconv.FormatBool(*c.OK)
	case c.Value != nil:
		return strconv.FormatFloat(*c.Value, 'f', -1, 64)
	}
	return ""
}
