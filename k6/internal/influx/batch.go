// SPDX-License-Identifier: AGPL-3.0-only

package influx

import (
	"bytes"
	"compress/gzip"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/influxdata/influxdb1-client/models"
)

// Tags and Fields of a point. A field is an int64, float64, string or *float64. Nil, NaN and infinite fields are left
// out, and so are empty tags.
type (
	Tags   map[string]string
	Fields map[string]any
)

// longestText bounds a string field, in bytes.
const longestText = 8 << 10

// Batch is points in line protocol, with millisecond timestamps. If too much is queued, Spare batches are dropped first.
type Batch struct {
	Spare bool

	lines   bytes.Buffer
	seconds Seconds
}

// Add adds a point, unless it has no field.
func (b *Batch) Add(measurement string, tags Tags, fields Fields, at time.Time) {
	kept := models.Fields{}
	for name, value := range fields {
		if value = finite(value); value != nil {
			kept[name] = value
		}
	}
	cleaned := map[string]string{}
	for name, value := range tags {
		if value = oneLine(value); value != "" {
			cleaned[name] = value
		}
	}
	point, err := models.NewPoint(measurement, models.NewTags(cleaned), kept, at)
	if err != nil {
		return // no field, or a name or a time that InfluxDB cannot store
	}
	b.lines.WriteString(point.PrecisionString("ms"))
	b.lines.WriteByte('\n')
	b.seconds.Add(at.Unix())
}

// Lines returns the added points, in line protocol with milliseconds.
func (b *Batch) Lines() string { return b.lines.String() }

func finite(value any) any {
	switch v := value.(type) {
	case *float64:
		if v == nil {
			return nil
		}
		return finite(*v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case string:
		return strings.ToValidUTF8(v[:min(len(v), longestText)], "")
	}
	return value
}

// oneLine makes a text valid as a tag: without line ends, and without a backslash that would escape the next character.
func oneLine(text string) string {
	return strings.TrimRight(strings.Join(strings.Fields(text), " "), `\ `)
}

// writers are pooled, because each has a megabyte of tables.
var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

func (b *Batch) compressed() []byte {
	var body bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&body)
	_, _ = w.Write(b.lines.Bytes()) // writing to memory cannot fail
	_ = w.Close()
	return body.Bytes()
}
