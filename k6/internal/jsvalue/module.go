// SPDX-License-Identifier: AGPL-3.0-only

package jsvalue

import "go.k6.io/k6/js/modules"

// Module makes the exports of a module of k6, once for each VU. k6 asks for them at each access to one.
type Module func(modules.VU) map[string]any

// NewModuleInstance implements modules.Module.
func (m Module) NewModuleInstance(vu modules.VU) modules.Instance { return exports(m(vu)) }

type exports map[string]any

// Exports implements modules.Instance.
func (e exports) Exports() modules.Exports { return modules.Exports{Named: e} }
