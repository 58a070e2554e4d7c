// An in-memory MongoDB on a free loopback port, with an oplog. Prints its address; ends with its standard input.
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

class Server {
    /** Version 7 of the driver refuses what says less; both speak the same messages. */
    static class Version implements MongoVersion {
        public List<Integer> getVersionArray() {
            return List.of(5, 0, 0);
        }

        public int getWireVersion() {
            return 13;
        }
    }

    public static void main(String[] arguments) throws Exception {
        MongoServer server = new MongoServer(new MemoryBackend().version(new Version()));
        server.enableOplog();
        System.out.println(server.bindAndGetConnectionString());
        while (System.in.read() >= 0) {
            // The tests write nothing: they close the pipe, or die.
        }
        server.shutdownNow();
    }
}
