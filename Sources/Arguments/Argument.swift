/// A flag, option or operand of a command, bound to a property of the command's options.
///
/// The binding is a key path, so that a name that does not exist or a value of the wrong type
/// does not compile. `isRequired` and `isRepeatable` follow from the property's type and the
/// way it is declared.
package struct Argument<Options: Sendable>: Sendable {
    /// How the argument is written.
    enum Form: Equatable, Sendable {
        /// `--name`, without a value.
        case flag
        /// `--name VALUE`.
        case option
        /// `VALUE`.
        case operand
    }

    let form: Form
    /// The long name without its dashes, if it has one; nil for an operand.
    let long: String?
    /// The letter of the short name.
    let short: Character?
    /// What stands for the value on a help page, such as `FILE`.
    let placeholder: String
    /// The paragraph of the help page.
    let help: String
    let isRequired: Bool
    let isRepeatable: Bool
    let store: @Sendable (inout Options, String) throws(ValueError) -> Void

    /// How the argument is called in messages: `--name`, `-n`, or the placeholder.
    package var name: String {
        if let long { return "--" + long }
        if let short { return "-" + String(short) }
        return placeholder
    }

    /// A flag that sets a property to true.
    package static func flag(
        _ long: String, short: Character? = nil,
        _ property: any WritableKeyPath<Options, Bool> & Sendable, help: String
    ) -> Argument {
        Argument(
            form: .flag, long: long, short: short, placeholder: "", help: help,
            isRequired: false, isRepeatable: false,
            store: { (options, _) throws(ValueError) in options[keyPath: property] = true })
    }

    /// An option with a value; the property's initial value is its default.
    package static func option<Value>(
        _ long: String?, short: Character? = nil,
        _ property: any WritableKeyPath<Options, Value> & Sendable, _ value: ArgumentValue<Value>,
        required: Bool = false, help: String
    ) -> Argument {
        Argument(
            form: .option, long: long, short: short, placeholder: value.placeholder, help: help,
            isRequired: required, isRepeatable: false,
            store: { (options, text) throws(ValueError) in
                options[keyPath: property] = try value.parse(text)
            })
    }

    /// An option with a value whose property is nil where it is not given.
    package static func option<Value>(
        _ long: String?, short: Character? = nil,
        _ property: any WritableKeyPath<Options, Value?> & Sendable,
        _ value: ArgumentValue<Value>, required: Bool = false, help: String
    ) -> Argument {
        Argument(
            form: .option, long: long, short: short, placeholder: value.placeholder, help: help,
            isRequired: required, isRepeatable: false,
            store: { (options, text) throws(ValueError) in
                options[keyPath: property] = try value.parse(text)
            })
    }

    /// An option that may be given several times; the values are kept in their order.
    package static func options<Value>(
        _ long: String?, short: Character? = nil,
        _ property: any WritableKeyPath<Options, [Value]> & Sendable,
        _ value: ArgumentValue<Value>, required: Bool = false, help: String
    ) -> Argument {
        Argument(
            form: .option, long: long, short: short, placeholder: value.placeholder, help: help,
            isRequired: required, isRepeatable: true,
            store: { (options, text) throws(ValueError) in
                options[keyPath: property].append(try value.parse(text))
            })
    }

    /// An operand, required unless said otherwise.
    package static func operand<Value>(
        _ property: any WritableKeyPath<Options, Value> & Sendable, _ value: ArgumentValue<Value>,
        required: Bool = true, help: String
    ) -> Argument {
        Argument(
            form: .operand, long: nil, short: nil, placeholder: value.placeholder, help: help,
            isRequired: required, isRepeatable: false,
            store: { (options, text) throws(ValueError) in
                options[keyPath: property] = try value.parse(text)
            })
    }

    /// All operands from here on; it stands last.
    package static func operands<Value>(
        _ property: any WritableKeyPath<Options, [Value]> & Sendable,
        _ value: ArgumentValue<Value>, required: Bool = true, help: String
    ) -> Argument {
        Argument(
            form: .operand, long: nil, short: nil, placeholder: value.placeholder, help: help,
            isRequired: required, isRepeatable: true,
            store: { (options, text) throws(ValueError) in
                options[keyPath: property].append(try value.parse(text))
            })
    }
}
