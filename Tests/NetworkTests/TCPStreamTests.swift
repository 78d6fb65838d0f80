import Network
import Testing
import Wire

/// What a stream promises, on every driver.
@Suite struct TCPStreamTests {
    @Test(arguments: Driver.allCases)
    func `what is written at one end is read at the other`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        #expect(pair.client.stream.write(Array("hello".utf8)) == .taken)
        bench.expect("the server reads") { pair.server.received == Array("hello".utf8) }
        pair.server.stream.write(ReadChunk(Array("hello to you".utf8)))
        bench.expect("the client reads") { pair.client.received == Array("hello to you".utf8) }
        #expect(pair.client.stream.peerAddress == pair.server.stream.localAddress)
        #expect(pair.client.stream.localAddress == pair.server.stream.peerAddress)
        #expect(pair.server.stream.originalDestination == nil)
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a client that has ended sending still reads`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        pair.client.stream.write(Array("request".utf8))
        pair.client.stream.shutdown()
        #expect(pair.client.stream.write([1]) == .refused)
        bench.expect("the server reads the end") { pair.server.ends == [.fin] }
        #expect(pair.server.received == Array("request".utf8))
        let answer = noise(100_000)
        pair.server.stream.write(answer)
        bench.expect("the client reads on") { pair.client.received == answer }
        #expect(pair.client.ends.isEmpty)
        pair.server.stream.shutdown()
        bench.expect("the client reads the end") { pair.client.ends == [.fin] }
        bench.settle()
        #expect(pair.server.ends == [.fin])
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a server that has ended sending still reads`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        pair.server.stream.shutdown()
        bench.expect("the client reads the end") { pair.client.ends == [.fin] }
        let late = noise(50_000)
        pair.client.stream.write(late)
        bench.expect("the server reads on") { pair.server.received == late }
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `what was buffered goes before the end`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench, resumeServer: false)
        let data = noise(8 << 20)
        #expect(pair.client.stream.write(data) == .buffered)
        pair.client.stream.shutdown()
        bench.settle()
        #expect(pair.client.stream.bufferedBytes > 0)
        pair.server.stream.resume()
        bench.expect("all is read, then the end") { pair.server.ends == [.fin] }
        #expect(pair.server.received == data)
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `an abort is a reset and not an end`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        pair.client.stream.abort()
        bench.expect("the server sees a reset") { pair.server.isReset }
        #expect(pair.server.ends.count == 1)
        #expect(pair.server.stream.write([1]) == .refused)
        #expect(!pair.server.stream.isWritable)
        #expect(pair.client.ends.isEmpty)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `what came before a reset is read first`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench, resumeServer: false)
        let data = noise(2000)
        pair.client.stream.write(data)
        bench.expect("the bytes have arrived") { pair.server.stream.unreadBytes == data.count }
        // The stream is resumed and reset within one turn: the reset comes with the data.
        bench.server.atEndOfTurn {
            pair.server.stream.resume()
            pair.client.stream.abort()
        }
        bench.expect("the server sees a reset") { pair.server.isReset }
        #expect(pair.server.received == data)
        #expect(pair.server.ends.count == 1)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a paused reader learns of a reset`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        pair.client.stream.write([1, 2, 3])
        bench.expect("the server reads") { pair.server.received == [1, 2, 3] }
        pair.server.stream.pause()
        pair.client.stream.write([4, 5, 6, 7])
        bench.expect("the bytes have arrived") { pair.server.stream.unreadBytes == 4 }
        var unread = 0
        pair.server.stream.onEnd = { end in
            pair.server.ends.append(end)
            unread = pair.server.stream.unreadBytes
        }
        pair.client.stream.abort()
        bench.expect("the server sees a reset") { pair.server.isReset }
        #expect(pair.server.received == [1, 2, 3])
        #expect(unread == 4)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a half-closed end learns of a reset`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        pair.client.stream.shutdown()
        bench.expect("the server reads the end") { pair.server.ends == [.fin] }
        pair.client.stream.abort()
        bench.expect("the server sees a reset") { pair.server.ends.count == 2 }
        #expect(pair.server.isReset)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a pause holds back the end, and nothing spins meanwhile`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench, resumeServer: false)
        pair.client.stream.write([9])
        pair.client.stream.shutdown()
        pair.server.stream.shutdown()
        bench.settle()
        #expect(pair.server.ends.isEmpty)
        pair.server.stream.resume()
        bench.expect("the server reads the end") { pair.server.ends == [.fin] }
        #expect(pair.server.received == [9])
        #expect(pair.client.ends == [.fin])
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a close with something unread resets the peer`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench, resumeServer: false)
        pair.client.stream.write([1, 2, 3])
        bench.expect("the bytes have arrived") { pair.server.stream.unreadBytes == 3 }
        pair.server.stream.close()
        bench.expect("the client sees a reset") { pair.client.isReset }
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a close with everything read is an end, and writing to it a reset`(
        driver: Driver
    ) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench)
        pair.server.stream.close()
        bench.expect("the client reads the end") { pair.client.ends == [.fin] }
        #expect(pair.client.stream.write([1]) == .taken)
        bench.expect("the answer to it is a reset") { pair.client.ends.count == 2 }
        #expect(pair.client.isReset)
        #expect(pair.client.stream.write([1]) == .refused)
        bench.settle()
        #expect(pair.client.ends.count == 2)
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a peer that never reads stops the writer and not the memory`(driver: Driver) throws {
        let bench = try driver.makeBench()
        let pair = try Pair(bench, resumeServer: false)
        let chunk = noise(64 << 10)
        var written = 0
        // A writer that heeds what it is told, as every writer must.
        func write() {
            while pair.client.stream.bufferedBytes < 256 << 10, written < 16 << 20 {
                pair.client.stream.write(chunk)
                written += chunk.count
            }
        }
        pair.client.stream.onDrain = {
            pair.client.drains += 1
            write()
        }
        write()
        bench.settle()
        #expect(written < 16 << 20)
        #expect(pair.client.stream.bufferedBytes <= (256 + 64) << 10)
        #expect(pair.server.reads == 0)
        let drainsBefore = pair.client.drains
        bench.settle()
        #expect(pair.client.drains == drainsBefore)
        pair.server.stream.resume()
        bench.expect("all of it arrives in the end") { pair.server.received.count == 16 << 20 }
        #expect(pair.client.drains > drainsBefore)
        #expect(
            (0..<256).allSatisfy { index in
                let start = index * chunk.count
                return pair.server.received[start..<start + chunk.count].elementsEqual(chunk)
            })
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a big transfer arrives unchanged through any pauses`(driver: Driver) throws {
        let bench = try driver.makeBench(seed: 42)
        let pair = try Pair(bench)
        let total = driver == .choppy ? 2 << 20 : 32 << 20
        let data = noise(total)
        var generator = SeededGenerator(seed: 3)
        var position = 0
        func write() {
            while position < total, pair.client.stream.bufferedBytes < 1 << 20 {
                let length = min(total - position, generator.number(in: 1...200_000))
                let part = Array(data[position..<position + length])
                if generator.oneIn(2) {
                    pair.client.stream.write(part)
                } else {
                    pair.client.stream.write(ReadChunk(part))
                }
                position += length
            }
            if position == total { pair.client.stream.shutdown() }
        }
        pair.client.stream.onDrain = { write() }
        pair.server.stream.onRead = { chunk in
            pair.server.received += chunk.bytes
            if generator.oneIn(50) {
                pair.server.stream.pause()
                bench.server.schedule(after: 200_000) { pair.server.stream.resume() }
            }
        }
        write()
        bench.expect("all of it arrives") { pair.server.ends == [.fin] }
        #expect(pair.server.received == data)
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `many small writes keep their order behind a full buffer`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var options = StreamOptions()
        options.sendBuffer = 8192
        options.receiveBuffer = 8192
        let pair = try Pair(bench, resumeServer: false, options: options)
        var expected = Bytes()
        var generator = SeededGenerator(seed: 11)
        for index in 0..<3000 {
            let piece = Bytes(
                repeating: UInt8(truncatingIfNeeded: index), count: generator.number(in: 0...300))
            expected += piece
            if generator.oneIn(2) {
                pair.client.stream.write(piece)
            } else {
                pair.client.stream.write(ReadChunk(piece))
            }
            if index == 1500 {
                // A large chunk is kept as it is between copied ones.
                let large = noise(100_000)
                expected += large
                pair.client.stream.write(ReadChunk(large))
            }
        }
        #expect(pair.client.stream.bufferedBytes > 0)
        pair.server.stream.resume()
        bench.expect("all of it arrives") { pair.server.received.count == expected.count }
        #expect(pair.server.received == expected)
        #expect(pair.client.drains == 1)
        pair.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `two hundred connections at once keep to themselves`(driver: Driver) throws {
        let bench = try driver.makeBench()
        var servers: [Witness] = []
        let listener = try bench.server.listen(
            on: bench.serverAddress, options: ListenOptions()
        ) { stream in
            let witness = Witness(stream)
            servers.append(witness)
            stream.onRead = { chunk in
                stream.write(chunk)
            }
            stream.onEnd = { [unowned stream] _ in stream.shutdown() }
        }
        var clients: [Witness] = []
        for index in 0..<200 {
            bench.client.connect(to: listener.localAddress, options: ConnectOptions()) { result in
                guard case .success(let stream) = result else { return }
                clients.append(Witness(stream))
                stream.write(noise(5000, seed: UInt64(index)))
                stream.shutdown()
                // Its number comes back as the data's seed.
                clients.last?.drains = index
            }
        }
        bench.expect("each gets its echo and the end") {
            clients.count == 200 && clients.allSatisfy { $0.ends == [.fin] }
        }
        #expect(servers.count == 200)
        #expect(clients.allSatisfy { $0.received.count == 5000 })
        #expect(Set(clients.map(\.received)).count == 200)
        for witness in clients + servers { witness.stream.close() }
        listener.close()
        bench.finish()
    }

    @Test(arguments: Driver.allCases)
    func `a stream may be closed inside its own callbacks`(driver: Driver) throws {
        let bench = try driver.makeBench()
        for place in 0..<3 {
            let pair = try Pair(bench)
            var isClosed = false
            let close = {
                pair.server.stream.close()
                isClosed = true
            }
            switch place {
            case 0: pair.server.stream.onRead = { _ in close() }
            case 1: pair.server.stream.onEnd = { _ in close() }
            default: pair.server.stream.onDrain = { close() }
            }
            pair.client.stream.write(noise(1000))
            if place == 2 { pair.server.stream.write(noise(8 << 20)) }
            pair.client.stream.shutdown()
            bench.expect("it is closed") { isClosed }
            bench.settle()
            pair.close()
        }
        bench.finish()
    }
}
