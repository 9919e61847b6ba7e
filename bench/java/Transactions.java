import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.client.producer.TransactionSendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * How many transactions a second the official Java client commits when it does nothing else: half message, local
 * transaction that commits at once, commit. So many threads, each with one transaction in flight.
 *
 * <p>Says "load starts" and "load ended" on standard error, prints one line of JSON, and ends when its standard input
 * does, at the latest a minute after its time: until then its threads are there for whoever reads their CPU time.
 */
public final class Transactions {
    private static final int BODY_BYTES = 200;
    /** As many as the bundled service's topic has. */
    private static final int QUEUES = 20;
    /** A bound for the broker's disk: each takes about a kilobyte of it. */
    private static final int ATTEMPTS_MAX = 2_000_000;
    private static final int OVERTIME_S = 60;

    private final TransactionMQProducer producer;
    private final String topic;
    private final byte[] body = new byte[BODY_BYTES];
    private final AtomicInteger attempts = new AtomicInteger();
    private final LongAdder committed = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final CountDownLatch exhausted = new CountDownLatch(1);
    private volatile boolean isOver;

    private Transactions(String nameServer, String topic) throws MQClientException {
        this.topic = topic;
        Arrays.fill(body, (byte) 'x');
        producer = new TransactionMQProducer("transactions-" + topic);
        producer.setNamesrvAddr(nameServer);
        producer.setTransactionListener(new CommitsAtOnce());
        // The broker makes the topic when the first message comes.
        producer.setDefaultTopicQueueNums(QUEUES);
        producer.start();
    }

    public static void main(String[] args) throws Exception {
        if (args.length != 5) {
            System.err.println("usage: Transactions NAME_SERVER TOPIC THREADS WARM_UP_S SECONDS");
            System.exit(64);
        }
        int threads = Integer.parseInt(args[2]);
        int warmUp = Integer.parseInt(args[3]);
        int seconds = Integer.parseInt(args[4]);
        endAfter(warmUp + seconds + OVERTIME_S);
        Transactions transactions = new Transactions(args[0], args[1]);
        transactions.start(threads);
        // Until Java has compiled what runs often, here and in the broker, it is several times slower.
        transactions.exhausted.await(warmUp, TimeUnit.SECONDS);
        System.out.println(transactions.measured(seconds));
        awaitEndOfInput();
        transactions.isOver = true;
        transactions.producer.shutdown();
    }

    /** Whatever hangs: nobody has to end this program by hand. */
    private static void endAfter(int seconds) {
        daemon(() -> {
            try {
                TimeUnit.SECONDS.sleep(seconds);
            } catch (InterruptedException ignored) {
                // Nobody interrupts it; the end would come sooner.
            }
            Runtime.getRuntime().halt(1);
        });
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.start();
    }

    private void start(int threads) {
        for (int number = 0; number < threads; number++) {
            daemon(this::sendUntilOver);
        }
    }

    private void sendUntilOver() {
        while (!isOver) {
            if (attempts.incrementAndGet() > ATTEMPTS_MAX) {
                exhausted.countDown();
                return;
            }
            (sent() ? committed : failures).increment();
        }
    }

    private boolean sent() {
        try {
            TransactionSendResult result = producer.sendMessageInTransaction(new Message(topic, body), null);
            return result.getSendStatus() == SendStatus.SEND_OK
                && result.getLocalTransactionState() == LocalTransactionState.COMMIT_MESSAGE;
        } catch (MQClientException failed) {
            return false;
        }
    }

    /** What is done within the seconds, or until no more may be tried, as one line of JSON. */
    private String measured(int seconds) throws InterruptedException {
        System.err.println("load starts");
        long startNs = System.nanoTime();
        long committedBefore = committed.sum();
        long failuresBefore = failures.sum();
        exhausted.await(seconds, TimeUnit.SECONDS);
        double took = (System.nanoTime() - startNs) / 1e9;
        long committedNow = committed.sum() - committedBefore;
        long failuresNow = failures.sum() - failuresBefore;
        System.err.println("load ended");
        return String.format(Locale.ROOT,
            "{\"committed\":%d,\"seconds\":%.3f,\"committed_per_s\":%.1f,\"failures\":%d}",
            committedNow, took, committedNow / took, failuresNow);
    }

    private static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is expected of it but its end.
        }
    }

    private static final class CommitsAtOnce implements TransactionListener {
        @Override
        public LocalTransactionState executeLocalTransaction(Message message, Object argument) {
            return LocalTransactionState.COMMIT_MESSAGE;
        }

        /** The broker asks when a commit was lost on its way. */
        @Override
        public LocalTransactionState checkLocalTransaction(MessageExt message) {
            return LocalTransactionState.COMMIT_MESSAGE;
        }
    }
}
