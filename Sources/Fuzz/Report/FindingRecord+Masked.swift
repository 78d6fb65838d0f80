package import PhoneBridge
package import Report
import Wire

extension FindingRecord {
    /// The finding as it may be given to others: without what its script, its sessions and its words
    /// tell about people, and without what the target wrote.
    package func masked(contract: Contract = .current) -> FindingRecord {
        var record = self
        var mask = ContentMask(contract: contract, keeping: finding.script.names)
        record.finding.script = finding.script.masked(&mask)
        record.finding.original = finding.original.masked(&mask)
        record.finding.observation = finding.observation.masked(&mask)
        record.finding.evidence.output = []
        // What cannot be read cannot be masked, and stays here.
        record.finding.evidence.session =
            (try? SessionMask.masked(finding.evidence.session, mask, contract: contract)) ?? []
        record.finding.control =
            (try? SessionMask.masked(finding.control, mask, contract: contract)) ?? []
        return record
    }
}

extension Observation {
    /// The observation without what it quotes of texts.
    package func masked(_ mask: inout ContentMask) -> Observation {
        var observation = self
        observation.text = mask.masked(sentence: text)
        return observation
    }
}

extension CampaignSummary {
    /// The same for who is not to know what people's phones have said.
    package func masked(contract: Contract = .current) -> CampaignSummary {
        var summary = self
        summary.showsValues = false
        for index in findings.indices {
            summary.findings[index].record = findings[index].record.masked(contract: contract)
        }
        for index in known.indices {
            summary.known[index].record = known[index].record.masked(contract: contract)
            guard case .changed(let observation) = known[index].fate else { continue }
            var mask = ContentMask(contract: contract)
            summary.known[index].fate = .changed(observation.masked(&mask))
        }
        for index in apart.indices {
            var mask = ContentMask(contract: contract, keeping: apart[index].script.names)
            summary.apart[index].observation = apart[index].observation.masked(&mask)
            summary.apart[index].script = apart[index].script.masked(&mask)
        }
        return summary
    }
}
